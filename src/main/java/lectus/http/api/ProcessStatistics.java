package lectus.http.api;

import java.lang.management.BufferPoolMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import lectus.json.JsonBuffer;

/**
 * {@code /_node/{node}/_system}: the process, in the form in which CouchDB shows Erlang's. The heap
 * stands for Erlang's processes, threads for their number, and what there is nothing of is 0.
 */
final class ProcessStatistics {
  private ProcessStatistics() {}

  static JsonBuffer json() {
    JsonBuffer json = new JsonBuffer(1_024);
    number(json.octet('{'), "uptime", uptimeSeconds());
    json.ascii(",\"memory\":").object(memory(), json::number);
    json.octet(',');
    number(json, "run_queue", 0);
    number(json.octet(','), "run_queue_dirty_cpu", 0);
    number(json.octet(','), "ets_table_count", 0);
    number(json.octet(','), "context_switches", 0);
    number(json.octet(','), "reductions", 0);
    number(json.octet(','), "garbage_collection_count", collections());
    number(json.octet(','), "words_reclaimed", 0);
    number(json.octet(','), "io_input", 0);
    number(json.octet(','), "io_output", 0);
    number(json.octet(','), "os_proc_count", 0);
    number(json.octet(','), "stale_proc_count", 0);
    number(json.octet(','), "process_count", threads());
    number(json.octet(','), "process_limit", 0);
    json.ascii(",\"message_queues\":{},");
    number(json, "internal_replication_jobs", 0);
    return json.ascii(",\"distribution\":{},\"distribution_events\":{}}");
  }

  static long uptimeSeconds() {
    return TimeUnit.MILLISECONDS.toSeconds(ManagementFactory.getRuntimeMXBean().getUptime());
  }

  static int threads() {
    return ManagementFactory.getThreadMXBean().getThreadCount();
  }

  /** Returns the bytes of each type of memory. */
  static Map<String, Long> memory() {
    MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
    MemoryUsage code = ManagementFactory.getMemoryMXBean().getNonHeapMemoryUsage();
    Map<String, Long> memory = new LinkedHashMap<>();
    memory.put("other", 0L);
    memory.put("atom", 0L);
    memory.put("atom_used", 0L);
    memory.put("processes", heap.getCommitted());
    memory.put("processes_used", heap.getUsed());
    memory.put("binary", directBytes());
    memory.put("code", code.getUsed());
    memory.put("ets", 0L);
    return memory;
  }

  private static long directBytes() {
    return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
        .mapToLong(BufferPoolMXBean::getMemoryUsed)
        .sum();
  }

  static long collections() {
    return ManagementFactory.getGarbageCollectorMXBeans().stream()
        .mapToLong(GarbageCollectorMXBean::getCollectionCount)
        .sum();
  }

  private static void number(JsonBuffer json, String name, long value) {
    json.string(name).octet(':').ascii(Long.toString(value));
  }
}
