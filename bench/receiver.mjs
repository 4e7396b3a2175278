// A fast HTTPS receiver for measurements: answers 200 to every path, and after so many
// milliseconds where the path says so (/wait/5000/...). Prints its port, and on a line of input
// the number of requests since the last one.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

const pem = readFileSync(process.argv[2]);
let received = 0;
const arrivals = process.argv[3] === '--times' ? [] : null;

const server = createServer({ key: pem, cert: pem, keepAlive: true, keepAliveTimeout: 120_000 }, (request, response) => {
  const chunks = [];
  request.on('data', (chunk) => arrivals && chunks.push(chunk));
  request.on('end', () => {
    received += 1;
    if (arrivals) {
      const now = performance.timeOrigin + performance.now(); // milliseconds, with fractions
      const { data } = JSON.parse(Buffer.concat(chunks));
      arrivals.push([request.url, now - Number(data.name)]);
    }
    const wait = /^\/wait\/(\d+)/.exec(request.url);
    const answer = () => response.writeHead(200, { 'Content-Length': 2 }).end('ok');
    if (wait) setTimeout(answer, Number(wait[1])); else answer();
  });
});
server.listen(0, '127.0.0.1', 1024, () => console.log(server.address().port));
process.stdin.on('data', () => {
  console.log(JSON.stringify(arrivals ? arrivals.splice(0) : received));
  received = 0;
});
process.stdin.on('end', () => process.exit(0));
