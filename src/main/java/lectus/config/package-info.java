/**
 * The configuration: every key, declared once with its name, its type, its default, its bounds and
 * its meaning; the sources that set it (file, environment, flags); and the records of the packages
 * below that are made from it. The command line is not known here.
 */
package lectus.config;
