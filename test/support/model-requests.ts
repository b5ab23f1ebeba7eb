/** What the first message of a request to a model says. */
export function questionIn(body: string): string {
  const { messages } = JSON.parse(body) as { messages: { content: string }[] };
  return messages[0]?.content ?? '';
}
