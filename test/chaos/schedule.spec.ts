import { MODEL_FAULTS, PROCESS_FAULTS, REDIS_FAULTS, scheduleOf, type ScheduledFault } from './schedule';

const LOAD_MS = 14_000;
const SORTS: readonly (readonly string[])[] = [REDIS_FAULTS, PROCESS_FAULTS, MODEL_FAULTS];

describe('scheduleOf', () => {
  const ofSort = (schedule: readonly ScheduledFault[], sort: readonly string[]): ScheduledFault[] =>
    schedule.filter(({ kind }) => sort.includes(kind));

  it('is the same for the same seed', () => {
    expect(scheduleOf(7, LOAD_MS)).toEqual(scheduleOf(7, LOAD_MS));
    expect(scheduleOf(8, LOAD_MS)).not.toEqual(scheduleOf(7, LOAD_MS));
  });

  it('breaks one thing of each sort at a time, and all of them over a few seeds', () => {
    const schedules = [1, 2, 3, 4, 5].map(seed => scheduleOf(seed, LOAD_MS));
    for (const schedule of schedules) {
      for (const sort of SORTS) {
        const faults = ofSort(schedule, sort);
        expect(faults.length).toBeGreaterThanOrEqual(2);
        const ends = [0, ...faults.map(({ atMs, forMs }) => atMs + forMs)];
        faults.forEach(({ atMs }, index) => expect(atMs).toBeGreaterThan(ends[index] ?? 0));
        expect(ends.at(-1)).toBeLessThanOrEqual(LOAD_MS);
      }
    }
    const kinds = new Set(schedules.flat().map(({ kind }) => kind));
    expect([...kinds].toSorted()).toEqual(SORTS.flat().toSorted());
  });
});
