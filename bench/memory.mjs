import { load } from './load.mjs';
import { pause, residentMegabytes } from './processes.mjs';
import { chatBody, newChatBody } from './requests.mjs';
import { atMost } from './targets.mjs';

/** Distinct questions, five times as many as the cache in the process keeps: some hits, and answers that must go. */
const QUESTIONS = 5_000;
const L1_ENTRIES = 1_000;

/** Memory after the first and after the last half of many calls: with answers that are kept, and with none. */
export async function measureMemory(scene, { amount }) {
  const redis = await scene.redis();
  const kept = await scene.gateway({ redis, cache: { l1_entries: L1_ENTRIES } });
  const off = await scene.gateway({ redis });
  const question = () => chatBody({ question: `Is article ${Math.floor(Math.random() * QUESTIONS)} in stock?` });
  const rows = [
    await growth({ name: `cache on, ${QUESTIONS} questions`, server: kept }, amount, question),
    await growth({ name: 'cache off', server: off }, amount, () => newChatBody({ model: 'uncached' })),
  ];
  return {
    title: 'Memory',
    rows,
    verdicts: rows.map(row => atMost(`memory, ${row.name}: last ÷ first half`, row.lastMb / row.firstMb, 1.1)),
  };
}

async function growth(target, amount, body) {
  const half = async () => {
    const { failed } = await load(target, { amount: amount / 2 }, { body });
    if (failed > 0) throw new Error(`${failed} calls failed.`);
    await pause(2000);
    return residentMegabytes(target.server.pid);
  };
  const firstMb = await half();
  return { name: target.name, calls: amount, firstMb, lastMb: await half() };
}
