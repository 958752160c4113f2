/**
 * WebSockets for text messages: frames, pings, close codes, and the bytes that wait in either
 * direction. A request is upgraded in {@link lectus.http.exchange}.
 */
package lectus.http.websocket;
