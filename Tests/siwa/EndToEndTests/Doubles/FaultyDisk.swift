import Foundation
import TestSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A write transaction of another program, as SQLite sees it: the lock on byte 120 of the shared memory file
/// (WAL-mode file format, §2.3.1).
struct ForeignTransaction: ~Copyable {
    struct Refused: Error {}

    private let descriptor: Int32

    init(on path: String) throws {
        descriptor = open(path + "-shm", O_RDWR)
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = 120
        lock.l_len = 1
        guard descriptor >= 0, fcntl(descriptor, F_SETLK, &lock) == 0 else { throw Refused() }
    }

    consuming func end() {}

    deinit { close(descriptor) }
}

/// A disk with faults for the database's files. It is a library that is loaded between the process and the
/// system library.
///
/// A real full disk needs privileges that tests do not always have.
struct FaultyDisk: Sendable {
    enum Fault: Character {
        case none = "n"
        /// All writes fail because the disk is full.
        case full = "f"
        /// All writes fail, as when the system has remounted the disk read-only.
        case readOnly = "r"
        case failingSync = "e"
        /// Each sync takes 300 milliseconds.
        case slowSync = "s"
        /// A sync does not return until the fault is over.
        case hangingSync = "h"
    }

    struct NoCompiler: Error {}

    /// The environment for the process with this disk.
    let variables: [String: String]
    private let control: String

    init(in directory: TemporaryDirectory) throws {
        control = "\(directory.path)/disk"
        let (source, library) = ("\(directory.path)/disk.c", "\(directory.path)/disk.so")
        try Self.source.write(toFile: source, atomically: false, encoding: .utf8)
        guard ["cc", "clang"].contains(where: { Self.compile($0, source, library) }) else {
            throw NoCompiler()
        }
        variables = ["LD_PRELOAD": library, "FAULTY_DISK": control]
        try set(.none)
    }

    func set(_ fault: Fault) throws {
        // In place: the process has the file mapped.
        let isThere = FileManager.default.fileExists(atPath: control)
        if !isThere { _ = FileManager.default.createFile(atPath: control, contents: nil) }
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: control))
        try handle.write(contentsOf: Data(String(fault.rawValue).utf8))
        try handle.close()
    }

    private static func compile(_ compiler: String, _ source: String, _ library: String) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.launchAlone()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    private static let source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <fcntl.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/mman.h>
        #include <sys/types.h>
        #include <unistd.h>

        static volatile char *fault;

        __attribute__((constructor)) static void begin(void) {
            int file = open(getenv("FAULTY_DISK"), O_RDONLY);
            if (file >= 0) fault = mmap(NULL, 1, PROT_READ, MAP_SHARED, file, 0);
        }

        static char fault_of(int file) {
            char link[64], name[4096];
            if (!fault || *fault == 'n') return 'n';
            snprintf(link, sizeof link, "/proc/self/fd/%d", file);
            ssize_t length = readlink(link, name, sizeof name - 1);
            if (length <= 0) return 'n';
            name[length] = 0;
            return strstr(name, "siwa.sqlite") ? *fault : 'n';
        }

        static int refuses(int file) {
            char found = fault_of(file);
            if (found == 'f') errno = ENOSPC;
            if (found == 'r') errno = EROFS;
            return found == 'f' || found == 'r';
        }

        #define WRITING(name, result, parameters, arguments) \\
            result name parameters { \\
                static result(*next) parameters; \\
                if (!next) next = dlsym(RTLD_NEXT, #name); \\
                return refuses(file) ? -1 : next arguments; \\
            }

        WRITING(pwrite, ssize_t, (int file, const void *bytes, size_t count, off_t at), (file, bytes, count, at))
        WRITING(pwrite64, ssize_t, (int file, const void *bytes, size_t count, off64_t at), (file, bytes, count, at))
        WRITING(write, ssize_t, (int file, const void *bytes, size_t count), (file, bytes, count))
        WRITING(ftruncate, int, (int file, off_t length), (file, length))
        WRITING(ftruncate64, int, (int file, off64_t length), (file, length))

        static int waits(int file) {
            char found = fault_of(file);
            if (found == 's') usleep(300000);
            while (found == 'h' && *fault == 'h') usleep(10000);
            if (found == 'e') errno = EIO;
            return found == 'e';
        }

        #define SYNCING(name) \\
            int name(int file) { \\
                static int (*next)(int); \\
                if (!next) next = dlsym(RTLD_NEXT, #name); \\
                return waits(file) ? -1 : next(file); \\
            }

        SYNCING(fsync)
        SYNCING(fdatasync)
        """
}
