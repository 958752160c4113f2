/**
 * WebSockets for text messages: frames, pings, close codes, and the bytes that wait in either
 * direction. The upgrade of a request to a socket is not done here, nor what messages say.
 */
package lectus.http.websocket;
