/**
 * What a collector of traces is told of requests, and how. No other package knows OpenTelemetry;
 * what requests wait for is counted below.
 */
package lectus.http.trace;
