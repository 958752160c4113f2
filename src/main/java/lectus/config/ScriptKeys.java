package lectus.config;

import java.util.List;

/** Where functions of design documents run. */
public final class ScriptKeys {
  static final KeySection SECTION = new KeySection("Functions of design documents");

  static final ConfigurationKey<String> ENGINE =
      SECTION.key(
          "scripts.engine",
          ValueType.oneOf(List.of("auto", "v8", "rhino")),
          "auto",
          """
          v8 is fast and knows all of JavaScript; rhino lacks some of it and runs
          everywhere. auto: v8 where there is a library for it.
          """);

  static final ConfigurationKey<Integer> PROCESSES =
      SECTION.number(
          "scripts.processes",
          1,
          1,
          64,
          """
          How many child processes run functions for which a client waits, and how many
          others run those of views. They start when they are needed and end after a
          minute without work.
          """);

  static final ConfigurationKey<Integer> HEAP_MEGABYTES =
      SECTION.number(
          "scripts.heap-megabytes",
          64,
          16,
          4_096,
          """
          The memory of JavaScript in each child process. Java takes 64 MB and some code
          in addition.
          """);

  public static final ConfigurationKey<Integer> TIMEOUT_SECONDS =
      SECTION.number(
          "scripts.timeout-seconds",
          5,
          1,
          300,
          """
          How long a function may run for one document.
          """);

  public static final ConfigurationKey<String> VIEWS_FOLLOW =
      SECTION.key(
          "views.follow",
          ValueType.oneOf(List.of("all", "used", "none")),
          "all",
          """
          Which views are brought up to date in the background when documents change, so
          that queries need not wait. used: those that a query has asked for since their
          functions were defined.
          """);

  private ScriptKeys() {}
}
