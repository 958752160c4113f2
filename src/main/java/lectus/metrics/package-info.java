/**
 * Metrics of all parts of a server and of its JVM, and their form for Prometheus; no other package
 * uses Micrometer. Counting allocates nothing and never waits. Also the forms of the log's lines,
 * the stages in which a request waits, the running tasks, and the native libraries that the jar
 * carries.
 */
package lectus.metrics;
