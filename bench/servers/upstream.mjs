// The model of the benchmark: answers at once, with a body of about one kilobyte or a stream of 50 chunks a second.
// Each chunk says when it was sent, by a clock that all processes of a machine share.
import { createServer } from 'node:http';

const CHUNK_EVERY_MS = 20;

// Says nothing twice: a model that repeats itself is taken for one that is not well, and costs what those cost.
const TEXT =
  'The lightest hedge trimmer that we have weighs 2.4 kg, article 48-1107, and it is in stock in most of our shops. It ' +
  'runs on the 18 V battery of the garden series, which lasts for about forty minutes of cutting, and a full charge takes ' +
  'an hour. Its blade is 45 cm long and cuts twigs of up to 14 mm. If your hedge is taller than two metres, look at ' +
  'article 48-1215 as well: that one has a telescopic pole and a head that turns, but with 3.9 kg it is clearly heavier. ' +
  'Both come with a cover for the blade, gloves, and three years of warranty. You may send them back within thirty days, ' +
  'free of charge, as long as the receipt is in the box. Is there anything else that you would like to know?';

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
        content: TEXT,
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
