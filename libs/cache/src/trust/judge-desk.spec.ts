import { QueueTimeout } from '@spillway/contracts';
import { ManualClock } from '../../../../test/support/manual-clock';
import { JudgeDesk, type JudgeSettings, type Pair } from './judge-desk';
import { MemoryJudgementLog, type LoggedJudgement } from './judgement-log';

const pairOf = (asked: string, role: Pair['role'] = 'first'): Pair => ({
  route: 'r',
  partition: 'p',
  asked,
  kept: 'k',
  features: [1, 0.5],
  role,
  texts: [asked, 'kept'],
});

function desk(settings: Partial<JudgeSettings>, answer: (question: string) => Promise<boolean | null>) {
  const logged: LoggedJudgement[] = [];
  const log = new MemoryJudgementLog();
  log.listen(judgement => logged.push(judgement));
  const clock = new ManualClock();
  const asked: string[] = [];
  const judge = {
    sameAnswer: (_: string, [question]: readonly [string, string]) => {
      asked.push(question);
      return answer(question);
    },
  };
  const all: JudgeSettings = { model: 'm', hits: 1, per_minute: 60, ...settings };
  const debug: object[] = [];
  const made = new JudgeDesk(judge, log, () => all, clock, { debug: fields => debug.push(fields) });
  return { desk: made, logged, asked, clock, debug };
}

const settled = (): Promise<void> => new Promise(resolve => setTimeout(resolve, 50));

describe('the desk of the judge', () => {
  it('has near misses judged and logs what was found, without the texts', async () => {
    const { desk: judging, logged } = desk({}, async question => question === 'a');
    judging.all([pairOf('a'), pairOf('b', 'other')]);
    await settled();
    expect(logged).toEqual([
      {
        route: 'r',
        partition: 'p',
        asked: 'a',
        kept: 'k',
        features: [1, 0.5],
        role: 'first',
        same: true,
        source: 'model',
      },
      {
        route: 'r',
        partition: 'p',
        asked: 'b',
        kept: 'k',
        features: [1, 0.5],
        role: 'other',
        same: false,
        source: 'model',
      },
    ]);
  });

  it('judges one pair at a time, no more than the minute allows', async () => {
    let under = 0;
    let most = 0;
    const {
      desk: judging,
      asked,
      clock,
    } = desk({ per_minute: 3 }, async () => {
      most = Math.max(most, ++under);
      await new Promise(setImmediate);
      under -= 1;
      return true;
    });
    judging.all(['a', 'b', 'c', 'd', 'e'].map(question => pairOf(question)));
    await settled();
    expect([asked, most]).toEqual([['a', 'b', 'c'], 1]);
    clock.time += 60_000;
    judging.all([pairOf('f')]);
    await settled();
    expect(asked).toEqual(['a', 'b', 'c', 'f']);
  });

  it('takes of reuses a sample', async () => {
    const never = desk({ hits: 0 }, async () => true);
    never.desk.sampled(() => {
      throw new Error('nobody needs it');
    });
    const always = desk({ hits: 1 }, async () => true);
    always.desk.sampled(() => pairOf('a', 'hit'));
    await settled();
    expect(always.logged).toMatchObject([{ role: 'hit', same: true }]);
  });

  it('goes on after a judge that did not say, or could not be asked', async () => {
    const {
      desk: judging,
      logged,
      debug,
    } = desk({}, async question => {
      if (question === 'a') throw new QueueTimeout('no room');
      return question === 'b' ? null : true;
    });
    judging.all(['a', 'b', 'c'].map(question => pairOf(question)));
    await settled();
    expect(logged.map(({ asked }) => asked)).toEqual(['c']);
    expect(debug).toHaveLength(1);
  });

  it('is closed without a model', async () => {
    const { desk: judging, asked } = desk({ model: null }, async () => true);
    judging.all([pairOf('a')]);
    await settled();
    expect([asked, judging.isOpen]).toEqual([[], false]);
  });

  it('asks no more once the process stops', async () => {
    const { desk: judging, asked } = desk({}, async () => true);
    judging.beforeApplicationShutdown();
    judging.all([pairOf('a')]);
    await settled();
    expect(asked).toEqual([]);
  });
});
