# Counts, sorts and changes words; dies and evals.
my (%n, $died);
while (<>) { $n{$_}++ for split; last if $. > 20000 }
my @top = (sort { $n{$b} <=> $n{$a} || $a cmp $b } keys %n)[0 .. 20];
for my $i (1 .. 2000) { eval { die { code => $i } if $i % 3 == 0; 1 } or $died += $@->{code} }
(my $text = join ' ', @top) =~ s/(\w)(\w+)/$2$1/g;
local $SIG{ALRM} = sub { die "alarm\n" };
eval { alarm 1; 1 while 1 };
print "$text $died $@";
printf "%s %.12g\n", join(',', map { $n{$_} } @top), eval { my $s = 0; $s += sqrt $_ for 1 .. 9999; $s };
exit 4;
