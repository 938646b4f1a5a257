{ Pascal: exceptions without the system's tables, and traps turned into them. }
program raises;
{$mode objfpc}
uses SysUtils;
var i, total, zero: longint; none: ^longint;
begin
  total := 0; zero := 0; none := nil;
  for i := 1 to 1000 do
    try
      if i mod 5 = 0 then raise Exception.Create('five')
      else if i mod 7 = 0 then total := total + i div zero
      else if i mod 11 = 0 then none^ := 5
      else total := total + i;
    except
      on E: EDivByZero do total := total + 3;
      on E: EAccessViolation do total := total + 4;
      on E: Exception do total := total + Length(E.Message);
    end;
  writeln('raises ', total);
  halt(15);
end.
