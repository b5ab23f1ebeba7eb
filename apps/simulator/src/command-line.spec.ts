import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileOptions, InvalidCommandLine, optionsOf } from './command-line';

describe('optionsOf', () => {
  it('takes port 9100 unless the environment says otherwise', () => {
    expect(optionsOf([], {}).port).toBe(9100);
    expect(optionsOf([], { PORT: '9200' }).port).toBe(9200);
    expect(() => optionsOf([], { PORT: 'nine' })).toThrow(InvalidCommandLine);
  });

  it('reads models from a file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'spillway-simulator-'));
    try {
      const file = join(folder, 'models.yaml');
      writeFileSync(file, 'strict: true\ndefault: { family: ark }\nmodels:\n  fast: { limits: { rpm: 60 } }\n');
      expect(optionsOf(['--config', file], {})).toMatchObject({
        strict: true,
        defaultModel: { family: 'ark' },
        models: { fast: { limits: { rpm: 60 } } },
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('refuses what it does not know', () => {
    expect(() => fileOptions('modles: {}')).toThrow('modles');
    expect(() => fileOptions('- a')).toThrow(InvalidCommandLine);
    expect(() => optionsOf(['--colour'], {})).toThrow('--colour');
  });
});
