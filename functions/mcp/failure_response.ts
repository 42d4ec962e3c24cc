/** Responses to the connector's clients after a failure. */
import { errorResponse } from "../../shared/connector/json_rpc.ts";
import type { AppError } from "../../shared/errors.ts";

export const failureResponse = ({ status, message }: AppError, requestId: string): Response =>
  errorResponse({ status, message, ...(status >= 500 && { data: { request_id: requestId } }) });
