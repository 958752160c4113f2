/**
 * One request and its answer, on the connection's event loop: {@link lectus.http.exchange.Exchange}
 * reads the body within its limits, hands work to other threads, and sends answers whole or part by
 * part; it may become a WebSocket. Also the metrics, traces and log lines of requests. No other
 * package uses OpenTelemetry.
 */
package lectus.http.exchange;
