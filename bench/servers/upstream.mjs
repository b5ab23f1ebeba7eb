// The model of the benchmark: answers at once, with a body of about one kilobyte or a stream of 50 chunks a second.
// Each chunk says when it was sent, by a clock that all processes of a machine share.
import { createServer } from 'node:http';

const CHUNK_EVERY_MS = 20;

const answer = JSON.stringify({
  id: 'chatcmpl-bench',
  object: 'chat.completion',
  created: 1_790_000_000,
  model: 'bench',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: 'The lightest one weighs 2.4 kg and is in stock. '.repeat(14),
        refusal: null,
      },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 190, completion_tokens: 160, total_tokens: 350 },
});
const answerHead = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(answer) };

const event = (delta, finish_reason = null) =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-bench',
    object: 'chat.completion.chunk',
    created: 1_790_000_000,
    model: 'bench',
    choices: [{ index: 0, delta, finish_reason }],
  })}\n\n`;

function stream(response, chunks) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  let left = chunks;
  const next = () => {
    if (left === 0) {
      clearInterval(timer);
      response.end(`${event({}, 'stop')}data: [DONE]\n\n`);
      return;
    }
    left -= 1;
    response.write(event({ content: `@${process.hrtime.bigint()} and a few more words ` }));
  };
  const timer = setInterval(next, CHUNK_EVERY_MS);
  response.on('close', () => clearInterval(timer));
  next();
}

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', text => (body += text));
  request.on('end', () => {
    if (body.includes('"stream":true')) stream(response, JSON.parse(body).max_tokens);
    else response.writeHead(200, answerHead).end(answer);
  });
});
server.listen(Number(process.argv[2]), '127.0.0.1');
