package lectus.http;

/**
 * The administrator's settings of WebSockets.
 *
 * @param maxMessageBytes longest message of a client, in bytes
 * @param maxSubscriptions subscriptions of one socket at a time
 * @param pingSeconds how often each client is pinged
 * @param idleTimeoutSeconds after how long a client that sends nothing, not even a pong, and reads
 *     nothing is disconnected
 * @param messageSeconds how long a message may take from its first byte to its last
 */
public record WebSocketSettings(
    int maxMessageBytes,
    int maxSubscriptions,
    int pingSeconds,
    int idleTimeoutSeconds,
    int messageSeconds) {}
