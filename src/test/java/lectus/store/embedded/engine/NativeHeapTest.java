package lectus.store.embedded.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.util.Arrays;
import javax.management.ObjectName;
import lectus.store.embedded.engine.RocksEngine.NativeHeap;
import org.junit.jupiter.api.Test;

class NativeHeapTest {
  @Test
  void is_trimmed_where_the_jvm_can() throws Exception {
    boolean known =
        Arrays.stream(
                ManagementFactory.getPlatformMBeanServer()
                    .getMBeanInfo(new ObjectName("com.sun.management:type=DiagnosticCommand"))
                    .getOperations())
            .anyMatch(operation -> operation.getName().equals("systemTrimNativeHeap"));

    assertThat(NativeHeap.trim()).isEqualTo(known);
  }
}
