import { startProcess, turnConfig } from './turns';

/** A worker as a process of its own: `turn-worker-process.ts OPTIONS REDIS_URL PREFIX`; writes a line when it is ready. */
async function main(): Promise<void> {
  const [options = '', redisUrl = '', prefix = ''] = process.argv.slice(2);
  await startProcess(turnConfig(JSON.parse(options), redisUrl, prefix));
  console.log('ready');
}

void main();
