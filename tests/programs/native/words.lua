-- Coroutines, errors that are caught, tables and strings.
local sum = 0
local function made(n) return coroutine.wrap(function() for i = 1, n do coroutine.yield(i) end end) end
for i = 1, 300 do for v in made(i) do sum = (sum * 31 + v) % 2147483647 end end
for i = 1, 3000 do
    local ok, err = pcall(function() if i % 3 == 0 then error({code = i}) end return i end)
    sum = sum + (ok and err or err.code)
end
local words = {}
for w in (("the quick brown fox "):rep(1000)):gmatch("%a+") do words[w] = (words[w] or 0) + 1 end
print(sum, words.fox, ("x"):rep(5), string.format("%.10g", math.sin(sum)))
os.exit(8)
