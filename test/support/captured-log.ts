import { Logger, type SharedFields } from '@spillway/telemetry';

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string | undefined;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A log that says nothing and forgets nothing. */
export class CapturedLog extends Logger {
  readonly lines: LogLine[] = [];

  /** The line of one call. */
  ofCall(requestId: string): LogLine['fields'] | undefined {
    return this.lines.find(({ fields }) => fields['request_id'] === requestId && 'outcome' in fields)?.fields;
  }

  debug(fields: object, message?: string): void {
    this.write('debug', fields, message);
  }

  info(fields: object, message?: string, shared?: SharedFields): void {
    this.write('info', { ...fields, ...shared?.fields }, message);
  }

  warn(fields: object, message?: string): void {
    this.write('warn', fields, message);
  }

  error(fields: object, message?: string): void {
    this.write('error', fields, message);
  }

  private write(level: LogLine['level'], fields: object, message: string | undefined): void {
    this.lines.push({ level, message, fields: { ...fields } });
  }
}
