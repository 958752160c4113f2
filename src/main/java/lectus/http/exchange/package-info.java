/**
 * One request and its answer, on the connection's event loop: {@link lectus.http.exchange.Exchange}
 * reads the body within its limits, hands work to other threads, sends answers whole or part by
 * part, and becomes a WebSocket where it is asked to. No resource is known here. What is counted of
 * requests and of live feeds. Whose they are is not known here. What a collector of traces is told
 * of requests, and how. No other package knows OpenTelemetry; what requests wait for is counted
 * below.
 */
package lectus.http.exchange;
