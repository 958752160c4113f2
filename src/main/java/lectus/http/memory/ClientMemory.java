package lectus.http.memory;

/**
 * The accounts of the memory that clients make a server hold.
 *
 * @param bodies of running requests, in bytes of JSON: parsed they take a multiple
 * @param messages of WebSockets that are incomplete or wait to be handled
 * @param pages of feeds and large answers that wait for their clients
 * @param filters of live feeds, as long as these live
 */
public record ClientMemory(
    MemoryAccount bodies, MemoryAccount messages, MemoryAccount pages, MemoryAccount filters) {}
