import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const MODULE = readFileSync(join(__dirname, 'metrics.js')).toString('base64');

const FIRST = `
# HELP calls_total Calls
calls_total{class="low",end="ok"} 10
calls_total{class="low",end="a \\"quoted\\" one"} 1
calls_total{class="high",end="ok"} 5
wait_bucket{le="0.1"} 8
wait_bucket{le="1"} 9
wait_bucket{le="+Inf"} 9
wait_count 9
`;
const SECOND = `
calls_total{class="low",end="ok"} 30
calls_total{class="low",end="a \\"quoted\\" one"} 1
calls_total{class="high",end="ok"} 5
wait_bucket{le="0.1"} 98
wait_bucket{le="1"} 108
wait_bucket{le="+Inf"} 109
wait_count 109
`;

/** A module of the page, evaluated as a browser would: two readings, two seconds apart. */
function evaluate(expression: string): unknown {
  const script = `import('data:text/javascript;base64,${MODULE}').then(({ Reading, Span }) => {
    const [one, two] = [new Reading(${JSON.stringify(FIRST)}, 1000), new Reading(${JSON.stringify(SECOND)}, 3000)];
    const span = new Span(one, two);
    console.log(JSON.stringify(${expression}));
  })`;
  return JSON.parse(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' }));
}

describe('what the console makes of metrics', () => {
  it('sums the series whose labels fit', () => {
    expect(evaluate(`[one.sum('calls_total'), one.sum('calls_total', { class: 'low' }), one.sum('none')]`)).toEqual([
      16, 11, 0,
    ]);
    expect(evaluate(`one.values('calls_total', 'class')`)).toEqual(['low', 'high']);
  });

  it('is a rate over the time between two readings, and none after a restart or with one alone', () => {
    expect(evaluate(`span.rate('calls_total', { class: 'low' })`)).toBe(10);
    expect(evaluate(`new Span(two, new Reading('calls_total 3', 5000)).rate('calls_total')`)).toBe(0);
    expect(evaluate(`new Span(null, two).rate('calls_total')`)).toBe(0);
  });

  it('reads quantiles off the buckets that grew', () => {
    expect(evaluate(`[0.5, 0.9, 0.95].map(share => span.quantile('wait', share))`)).toEqual([0.1, 0.1, 1]);
    expect(evaluate(`span.quantile('none', 0.5)`)).toBeNull();
  });
});
