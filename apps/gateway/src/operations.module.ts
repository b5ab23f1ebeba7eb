import { Module } from '@nestjs/common';
import { AdmissionModule } from '@spillway/admission';
import { HealthModule } from '@spillway/health';
import { ProvidersModule } from '@spillway/providers';
import { QuotaModule } from '@spillway/quota';
import { CacheModule } from '@spillway/cache';
import { ExplainModule } from '@spillway/explain';
import { JobsModule } from '@spillway/jobs';
import { SchedulingModule } from '@spillway/scheduling';
import { SeedingModule } from '@spillway/seeding';
import { AdminJobsController } from './http/admin-jobs.controller';
import { CacheStatuses } from './http/cache-status';
import { ConsoleController } from './http/console.controller';
import { AdminController } from './http/admin.controller';
import { CacheReuseController } from './http/cache-reuse.controller';
import { ExplainController } from './http/explain.controller';
import { ErrorFilter } from './http/error-responses';
import { ModelStatuses } from './http/model-status';
import { ModelsController } from './http/models.controller';
import { OperationsController } from './http/operations.controller';
import { Parts } from './http/parts';
import { QueuesController } from './http/queues.controller';
import { StatusController } from './http/status.controller';
import { Reception } from './http/reception';
import { SeedController } from './http/seed.controller';

/** What every process offers to those who run it, whether it serves calls or not. */
@Module({
  imports: [
    AdmissionModule,
    CacheModule,
    ExplainModule,
    HealthModule,
    JobsModule,
    ProvidersModule,
    QuotaModule,
    SchedulingModule,
    SeedingModule,
  ],
  controllers: [
    OperationsController,
    StatusController,
    QueuesController,
    AdminController,
    AdminJobsController,
    CacheReuseController,
    ExplainController,
    ModelsController,
    SeedController,
    ConsoleController,
  ],
  providers: [CacheStatuses, ErrorFilter, ModelStatuses, Parts, Reception],
  exports: [Reception],
})
export class OperationsModule {}
