import { Controller, Get, Param } from '@nestjs/common';
import { NotFound } from '@spillway/contracts';
import { Explainer } from '@spillway/explain';

/** Why a call went where it went. */
@Controller('admin/explain')
export class ExplainController {
  constructor(private readonly explainer: Explainer) {}

  @Get(':requestId')
  async explain(@Param('requestId') requestId: string): Promise<object> {
    const explanation = await this.explainer.explain(requestId);
    if (explanation === null) {
      throw new NotFound('No process knows this request id, or none does any more.', { retryable: false });
    }
    return explanation;
  }
}
