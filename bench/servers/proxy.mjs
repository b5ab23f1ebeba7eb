// The least that a proxy for models can do: Fastify in front, undici behind, the usage read out of the answer.
import Fastify from 'fastify';
import { Agent, request } from 'undici';

const [port, upstream] = process.argv.slice(2).map(Number);
const dispatcher = new Agent({ connections: 1000 });
const url = `http://127.0.0.1:${upstream}/v1/chat/completions`;
let tokens = 0;

const server = Fastify({ keepAliveTimeout: 60_000 });
server.post('/v1/chat/completions', async (incoming, reply) => {
  const body = JSON.stringify({ ...incoming.body, model: 'bench' });
  const headers = { 'content-type': 'application/json' };
  const answer = await request(url, { method: 'POST', headers, body, dispatcher });
  const text = await answer.body.text();
  tokens += JSON.parse(text).usage?.total_tokens ?? 0;
  return reply.code(answer.statusCode).header('content-type', 'application/json').send(text);
});
await server.listen({ port, host: '127.0.0.1' });
