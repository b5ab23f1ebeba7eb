import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FLOAT = 1;
const INT64 = 7;

/**
 * Writes a model of one layer into a folder, as the Hugging Face hub has them: the vector of a word is the one given,
 * that of a text their mean. Words that are not given have no weight of their own.
 */
export function writeTinyModel(folder: string, words: Readonly<Record<string, readonly number[]>>): void {
  const dimension = Object.values(words)[0]?.length ?? 0;
  const rest = Array.from({ length: dimension }, (_, at) => (at === dimension - 1 ? 0.01 : 0));
  const vectors = [rest, rest, ...Object.values(words)];
  const vocabulary = Object.fromEntries(['[PAD]', '[UNK]', ...Object.keys(words)].map((word, id) => [word, id]));
  mkdirSync(join(folder, 'onnx'), { recursive: true });
  const json = (name: string, value: object): void => writeFileSync(join(folder, name), JSON.stringify(value));
  json('config.json', { model_type: 'bert', architectures: ['BertModel'], hidden_size: dimension });
  json('tokenizer_config.json', {
    tokenizer_class: 'PreTrainedTokenizerFast',
    pad_token: '[PAD]',
    unk_token: '[UNK]',
    model_max_length: 128,
  });
  json('tokenizer.json', {
    version: '1.0',
    added_tokens: ['[PAD]', '[UNK]'].map((content, id) => ({ id, content, special: true })),
    normalizer: null,
    pre_tokenizer: { type: 'Whitespace' },
    post_processor: null,
    decoder: null,
    model: { type: 'WordLevel', vocab: vocabulary, unk_token: '[UNK]' },
  });
  writeFileSync(join(folder, 'onnx/model.onnx'), lookUp(vectors, dimension));
}

/** A graph of one node: the rows of a table by number. */
function lookUp(rows: readonly (readonly number[])[], dimension: number): Buffer {
  const table = message(
    number(1, rows.length),
    number(1, dimension),
    number(2, FLOAT),
    text(8, 'table'),
    bytes(9, Buffer.from(Float32Array.from(rows.flat()).buffer)),
  );
  const node = message(text(1, 'table'), text(1, 'input_ids'), text(2, 'last_hidden_state'), text(4, 'Gather'));
  const graph = message(
    bytes(1, node),
    text(2, 'tiny'),
    bytes(5, table),
    bytes(11, tensorInfo('input_ids', INT64, ['batch', 'place'])),
    bytes(12, tensorInfo('last_hidden_state', FLOAT, ['batch', 'place', dimension])),
  );
  return message(number(1, 8), bytes(7, graph), bytes(8, message(number(2, 17))));
}

function tensorInfo(name: string, type: number, shape: readonly (string | number)[]): Buffer {
  const dims = shape.map(size => bytes(1, message(typeof size === 'number' ? number(1, size) : text(2, size))));
  return message(text(1, name), bytes(2, message(bytes(1, message(number(1, type), bytes(2, message(...dims)))))));
}

/** Protocol buffers, as far as ONNX files need them. */
const message = (...fields: readonly Buffer[]): Buffer => Buffer.concat(fields);
const number = (field: number, value: number): Buffer => message(varint(field << 3), varint(value));
const bytes = (field: number, value: Buffer): Buffer => message(varint((field << 3) | 2), varint(value.length), value);
const text = (field: number, value: string): Buffer => bytes(field, Buffer.from(value));

function varint(value: number): Buffer {
  const parts: number[] = [];
  for (; value > 0x7f; value >>>= 7) parts.push((value & 0x7f) | 0x80);
  return Buffer.from([...parts, value]);
}
