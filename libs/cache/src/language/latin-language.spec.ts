import { mayBeOneLanguage } from './latin-language';

it.each([
  ['What is the capital of France?', '¿Cuál es la capital de Francia?'],
  ['What is the capital of France?', 'Quelle est la capitale de la France ?'],
  ['How can I return it?', 'Wie kann ich das zurückgeben?'],
  ['Where is my order?', 'Dove è il mio ordine?'],
  ['Can I pay with a card?', 'Posso pagar com um cartão?'],
  ['Was ist das?', 'What was the reason?'],
  ['Wie ist das Wetter?', 'Quel est le temps ?'],
])('tells apart: %s and %s', (a, b) => {
  expect([mayBeOneLanguage(a, b), mayBeOneLanguage(b, a)]).toEqual([false, false]);
});

it.each([
  ['What is the capital of France?', 'Capital of France'],
  ['How do I make tagliatelle al ragù?', 'What is the recipe for tagliatelle al ragù?'],
  ['reset password', '¿Cuál es la capital de Francia?'],
  ['¿Cuál es la capital de Francia?', '¿Qué ciudad es la capital de Francia?'],
])('takes for one, or does not know: %s and %s', (a, b) => {
  expect([mayBeOneLanguage(a, b), mayBeOneLanguage(b, a)]).toEqual([true, true]);
});
