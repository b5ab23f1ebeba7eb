import type { CacheSurvey, LineFailure, LogQuestions, SeedStatus } from '@spillway/seeding';

const BAR_CHARACTERS = 24;
/** Failures that are shown one by one. */
const MOST_SHOWN = 50;

/** How far a seed has come. `pace`: lines done a second since it is watched. */
export function progressLine({ total, done, hits, generated, stored, failed }: SeedStatus, pace: number): string {
  const share = total === 0 ? 1 : done / total;
  const full = Math.floor(share * BAR_CHARACTERS);
  const bar = '█'.repeat(full) + '░'.repeat(BAR_CHARACTERS - full);
  const parts = [`${done}/${total}`, `there ${hits}`, `generated ${generated}`];
  if (stored > 0) parts.push(`stored ${stored}`);
  if (failed > 0) parts.push(`failed ${failed}`);
  const left = total - done;
  if (left > 0 && pace > 0) parts.push(`${pace.toFixed(1)}/s`, `ETA ${duration(left / pace)}`);
  return `${bar} ${String(Math.floor(share * 100)).padStart(3)} %  ${parts.join('  ')}`;
}

/** What a seed has come to. */
export function seedReport(status: SeedStatus): string {
  const { total, done, hits, generated, stored, failed, tokens, failures, state, error } = status;
  return [
    `${state}: ${done} of ${total} lines done`,
    `  there already  ${hits}`,
    `  generated      ${generated}  (${tokens} tokens)`,
    `  stored         ${stored}`,
    `  failed         ${failed}`,
    ...failureLines(failures, failed),
    ...(error === null ? [] : [`${error.message}`]),
  ].join('\n');
}

/** What is seeded of a log, and what is not. */
export function logReport({ lines, asked, refused, bad }: LogQuestions): string {
  const reasons = Array.from(refused).toSorted(([, one], [, other]) => other - one);
  const leftOut = reasons.map(([rule, count]) => `${count} ${rule === 'none' ? 'that ask nothing to compare' : rule}`);
  return [
    `${asked} questions in the log, ${lines.length} different ones to seed`,
    ...(leftOut.length === 0 ? [] : [`  left out: ${leftOut.join(', ')}`]),
    ...(bad.length === 0 ? [] : [`  not read: ${bad.length} lines`, ...failureLines(bad, bad.length)]),
  ].join('\n');
}

/** What the caches answer of a sample. */
export function surveyReport(survey: CacheSurvey): string {
  const { total, exact, canonical, semantic, none, failed, failures } = survey;
  const read = total - failed;
  const share = (count: number): string => `${(read === 0 ? 0 : (100 * count) / read).toFixed(1)} %`;
  return [
    `of ${read} questions of the sample ${share(exact + canonical + semantic)} are answered from the caches`,
    `  exact      ${share(exact)}  (${exact})`,
    `  canonical  ${share(canonical)}  (${canonical})`,
    `  semantic   ${share(semantic)}  (${semantic})`,
    `  a model    ${share(none)}  (${none})`,
    ...failureLines(failures, failed),
  ].join('\n');
}

function failureLines(failures: readonly LineFailure[], all: number): string[] {
  const sorted = failures.toSorted((one, other) => one.line - other.line).slice(0, MOST_SHOWN);
  const shown = sorted.map(({ line, reason }) => `    line ${line}: ${reason}`);
  return all > shown.length ? [...shown, `    and ${all - shown.length} more`] : shown;
}

function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  if (hours > 0) return `${hours}h ${minutes}m`;
  return minutes > 0 ? `${minutes}m ${whole % 60}s` : `${whole}s`;
}
