import { once } from 'node:events';
import { createServer } from 'node:http';

/** Every so many answers are wrong, whatever is asked. */
const wrongEvery = error => Math.round(1 / error);

/** A model that knows what each question wants to know, and says whether two want the same; now and then it errs. */
export async function startJudge(questions, error) {
  const wants = new Map(questions.map(({ text, intent }) => [text, nameOf(intent)]));
  let asked = 0;
  const answer = async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const { messages } = JSON.parse(Buffer.concat(pieces).toString());
    const { first, second } = JSON.parse(messages.at(-1).content);
    asked += 1;
    const same = (wants.get(first) === wants.get(second)) !== (asked % wrongEvery(error) === 0);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(completion({ same })));
  };
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    asked: () => asked,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** The judge sees texts, not products. */
function nameOf(intent) {
  const [kind, , name, language] = intent.split('/');
  return [kind, name, language].join('/');
}

function completion(verdict) {
  return {
    id: 'chatcmpl-judge',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'judge',
    choices: [{ index: 0, message: { role: 'assistant', content: JSON.stringify(verdict) }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 120, completion_tokens: 6, total_tokens: 126 },
  };
}
