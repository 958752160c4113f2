package lectus.jobs;

/**
 * What was filled in a transaction.
 *
 * @param documents how many of the first ones
 * @param rows number of rows written
 */
public record Filling(int documents, long rows) {}
