/**
 * One request and its answer, on the connection's event loop: {@link lectus.http.exchange.Exchange}
 * reads the body within its limits, hands work to other threads, sends answers whole or part by
 * part, and becomes a WebSocket where it is asked to. No resource is known here.
 */
package lectus.http.exchange;
