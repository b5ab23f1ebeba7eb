import { type Document, LineCounter, type YAMLError, isPair, isScalar, isSeq, parseDocument, visit } from 'yaml';
import { ConfigurationError, type Path, pathOf, type Problem } from './configuration-error';

export interface ParsedFile {
  readonly value: unknown;
  readonly problems: readonly Problem[];
}

/**
 * Turns YAML into plain values. Duplicate keys are reported beside the value.
 * @throws ConfigurationError where the text cannot be understood at all.
 */
export function parseYaml(text: string): ParsedFile {
  const lines = new LineCounter();
  // Pretty errors quote the source, which may hold secrets.
  const document = parseDocument(text, { prettyErrors: false, lineCounter: lines, merge: true });
  const findings = [...document.errors, ...document.warnings];
  const problems = findings.map(finding => toProblem(finding, document, lines));
  if (findings.some(finding => finding.code !== 'DUPLICATE_KEY')) throw new ConfigurationError(problems);
  try {
    return { value: document.toJS(), problems };
  } catch {
    const message = 'its aliases are circular, or expand to too much';
    throw new ConfigurationError([...problems, { path: '', message }]);
  }
}

function toProblem(finding: YAMLError, document: Document, lines: LineCounter): Problem {
  const { line, col } = lines.linePos(finding.pos[0]);
  const where = `line ${line}, column ${col}`;
  if (finding.code === 'MULTIPLE_DOCS') return { path: '', message: `${where}: a second document begins` };
  if (finding.code !== 'DUPLICATE_KEY') return { path: '', message: `${where}: ${finding.message}` };
  return { path: pathAt(document, finding.pos[0]), message: `appears twice (${where})` };
}

/** The path of the map key that begins at an offset of the text. */
function pathAt(document: Document, offset: number): string {
  let path = '';
  visit(document, {
    Scalar(kind, node, ancestors) {
      if (kind !== 'key' || node.range?.[0] !== offset) return undefined;
      path = pathOf(
        ancestors.flatMap((ancestor, depth): Path => {
          if (isPair(ancestor)) return isScalar(ancestor.key) ? [String(ancestor.key.value)] : [];
          return isSeq(ancestor) ? [ancestor.items.indexOf(ancestors[depth + 1])] : [];
        }),
      );
      return visit.BREAK;
    },
  });
  return path;
}
