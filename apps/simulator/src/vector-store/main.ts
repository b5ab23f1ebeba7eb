import { serveVectorStore, VectorStore } from './vector-store';

/** `node vector-store/main.js PORT FILE`: serves until it is killed, with what FILE holds. */
async function main(): Promise<void> {
  const [port, journal] = process.argv.slice(2);
  if (port === undefined || journal === undefined) throw new Error('The vector store wants a port and a file.');
  console.log(`The vector store answers at port ${await serveVectorStore(new VectorStore(journal), Number(port))}.`);
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
