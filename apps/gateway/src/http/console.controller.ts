import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Gatekeeper } from '@spillway/admission';
import { NotFound, SpillwayError } from '@spillway/contracts';
import { credentialsOf } from './doorkeeper';

const FOLDER = join(__dirname, '../ui');
const TYPES: Readonly<Record<string, string>> = {
  'index.html': 'text/html; charset=utf-8',
  'console.css': 'text/css; charset=utf-8',
  'main.js': 'text/javascript; charset=utf-8',
  'metrics.js': 'text/javascript; charset=utf-8',
  'server.js': 'text/javascript; charset=utf-8',
  'views.js': 'text/javascript; charset=utf-8',
};
/** The page asks for nothing beside this server, sends nothing elsewhere and is shown in nobody's frame. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cache-control': 'no-cache',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** The console: files without data. Their script asks the guarded addresses, with the key that the operator gives it. */
@Controller()
export class ConsoleController {
  private readonly files = new Map(Object.keys(TYPES).map(name => [name, readFileSync(join(FOLDER, name), 'utf8')]));

  constructor(private readonly gatekeeper: Gatekeeper) {}

  /** For whoever opens the address that the log told. */
  @Get()
  entrance(@Res() reply: FastifyReply): void {
    void reply.redirect('/ui', 303);
  }

  /** The same page with and without the key: it asks for it; only the status says that it is needed. */
  @Get('ui')
  page(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    void reply.code(this.statusFor(request));
    this.send('index.html', reply);
  }

  @Get('ui/:file')
  file(@Param('file') name: string, @Res() reply: FastifyReply): void {
    this.send(name, reply);
  }

  private statusFor(request: FastifyRequest): number {
    try {
      this.gatekeeper.requireAdmin(credentialsOf(request));
      return 200;
    } catch (error) {
      if (error instanceof SpillwayError) return error.status;
      throw error;
    }
  }

  private send(name: string, reply: FastifyReply): void {
    const text = this.files.get(name);
    if (text === undefined) throw new NotFound('There is nothing at this address.', { retryable: false });
    void reply.headers({ ...HEADERS, 'content-type': TYPES[name] }).send(text);
  }
}
