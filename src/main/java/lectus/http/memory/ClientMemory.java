package lectus.http.memory;

/**
 * The accounts of what clients make a server hold.
 *
 * @param bodies of running requests, in bytes of JSON: parsed they take some times as much
 * @param messages of WebSockets that have not come as a whole or wait to be handled
 * @param pages of feeds and large answers that wait for their clients
 * @param filters of live feeds, for as long as these live
 */
public record ClientMemory(
    MemoryAccount bodies, MemoryAccount messages, MemoryAccount pages, MemoryAccount filters) {}
