import NIOCore
import NIOPosix
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Returns memory to the system that glibc's allocator keeps after many connections have closed.
///
/// The allocator itself returns only unused memory at the end of a heap: one block in use holds all memory
/// before it. Other C libraries lack the call, and need it less.
final class MemoryTrimmer: Sendable {
    private typealias Trim = @convention(c) @Sendable (_ bytesToKeep: Int) -> Int32

    /// Delay before the call. So many connections that close singly cause one call,
    /// which takes milliseconds on a thread of its own.
    private static let delay = TimeAmount.seconds(5)
    /// The function, found by name, because Swift's module of glibc does not have its header.
    private static let trim = dlsym(nil, "malloc_trim").map { unsafeBitCast($0, to: Trim.self) }

    private let isScheduled = Atomic<Bool>(false)

    func schedule() {
        guard let trim = Self.trim,
            isScheduled.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged
        else { return }
        MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: Self.delay) {
            NIOThreadPool.singleton.submit { _ in
                self.isScheduled.store(false, ordering: .relaxed)
                _ = trim(0)
            }
        }
    }
}
