// Code that is compiled at run time, and again; exceptions, regular expressions, WebAssembly.
let sum = 0;
function work(i) { return i % 3 ? (i * 31) ^ sum : (i + 0.5) * 2; }
for (let i = 0; i < 2e6; i++) sum = (sum * 17 + work(i)) | 0;
for (let i = 0; i < 5000; i++) {
  try { if (i % 7 === 0) null.x; JSON.parse(i % 5 ? '{"a":[1,2]}' : '{'); } catch (e) { sum += e.name.length; }
}
const words = {};
for (const w of 'the cat and the dog '.repeat(5000).match(/\w+/g)) words[w] = (words[w] || 0) + 1;
const code = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 7, 1, 96, 2, 127, 127, 1, 127, 3, 2, 1, 0, 7, 7, 1,
  3, 97, 100, 100, 0, 0, 10, 9, 1, 7, 0, 32, 0, 32, 1, 106, 11]);
WebAssembly.instantiate(code).then(({ instance }) => {
  for (let i = 0; i < 1e5; i++) sum = instance.exports.add(sum, i);
  console.log(sum, words, [3, 1, 2].sort(), Math.sin(1).toFixed(10));
  process.exit(6);
});
