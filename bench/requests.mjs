const INSTRUCTIONS =
  'You are the assistant of a shop for tools and garden furniture. Answer in at most three sentences, name the article ' +
  'number where you know it, and never promise a date of delivery. Prices are in euro and include the tax. When a ' +
  'customer is angry, say that you are sorry once, and offer the service desk. Do not speak about other shops. If the ' +
  'question is about the return of an article, say that it is free within thirty days, and that the receipt is needed. ' +
  'If you do not know the answer, say so, and ask for the number of the order. Always answer in the language of the ' +
  'customer, in a friendly and sober tone, without exclamation marks and without emoji.';

let asked = 0;

/** The text of a chat request of about one kilobyte. */
export function chatBody({ model = 'assistant', question = 'Which hedge trimmer is the lightest?', ...more } = {}) {
  return JSON.stringify({
    model,
    messages: [
      { role: 'system', content: INSTRUCTIONS },
      { role: 'user', content: question },
    ],
    temperature: 0.2,
    max_tokens: 300,
    ...more,
  });
}

/** A request that was never made before. */
export function newChatBody(more = {}) {
  asked += 1;
  return chatBody({ question: `Where is my order ${process.pid}-${asked}?`, ...more });
}

const KINDS = 'garden bench,tool shed,hedge trimmer,lawn mower,cordless drill,rain barrel,parasol,fire bowl'.split(',');
const PLACES = (
  'Oslo,Vienna,Porto,Turin,Lyon,Ghent,Basel,Malmo,Leeds,Cork,Bergen,Graz,Seville,Genoa,Lille,Bruges,Zurich,Aarhus,Derby,' +
  'Galway,Tampere,Linz,Bilbao,Verona,Nantes'
).split(',');
const FOR = 'builders,schools,hotels,students,families'.split(',');

/** As many different questions there are. */
export const QUESTIONS = KINDS.length * PLACES.length * FOR.length;

/** One of the questions, by its number, and the same in other words. */
export const keptQuestion = index => chatBody({ question: numbered(index, 'buy') });
export const rewordedQuestion = index => chatBody({ question: numbered(index, 'purchase') });

function numbered(index, verb) {
  const kind = KINDS[index % KINDS.length];
  const place = PLACES[Math.floor(index / KINDS.length) % PLACES.length];
  const who = FOR[Math.floor(index / KINDS.length / PLACES.length) % FOR.length];
  return `Where can ${who} ${verb} a ${kind} in ${place}?`;
}
