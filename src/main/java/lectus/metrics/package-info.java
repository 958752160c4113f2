/**
 * The figures of all parts of a server and of its JVM, collected and written as Prometheus reads
 * them. Nothing else knows Micrometer.
 */
package lectus.metrics;
