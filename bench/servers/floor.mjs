// The least that a server of JSON can do: parses the body of the request and answers a text that is ready.
import { createServer } from 'node:http';

const [port, upstream] = process.argv.slice(2).map(Number);
const response = await fetch(`http://127.0.0.1:${upstream}/v1/chat/completions`, { method: 'POST', body: '{}' });
const answer = await response.text();
const head = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(answer) };

const server = createServer({ keepAliveTimeout: 60_000 }, (request, reply) => {
  let body = '';
  request.setEncoding('utf8').on('data', text => (body += text));
  request.on('end', () => {
    const { messages } = JSON.parse(body);
    reply.writeHead(messages.length > 0 ? 200 : 400, head).end(answer);
  });
});
server.listen(port, '127.0.0.1');
