import ArgumentParser
import Composition
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The siwa-dev program in this program's folder. It contains the trial and the fakes.
struct DevelopmentProgram {
    /// The exit status EX_UNAVAILABLE from sysexits.h.
    static let unavailable = ExitCode(69)

    let path: String

    /// Returns the file beside this program, and never another file, because the caller controls PATH and the
    /// working directory.
    static func beside(_ program: String) -> DevelopmentProgram {
        DevelopmentProgram(path: URL(fileURLWithPath: program).deletingLastPathComponent().path + "/siwa-dev")
    }

    /// This program's path, with links resolved.
    static var own: String? {
        #if os(Linux)
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        #else
            Bundle.main.executablePath
        #endif
    }

    /// Returns the command in the arguments if siwa-dev executes it: siwa-dev's own commands, also after
    /// `help`, and `verify --emulator`, which trusts the fake Apple's roots.
    static func command(in arguments: [String]) -> String? {
        if arguments.first == "verify" { return arguments.contains("--emulator") ? "verify --emulator" : nil }
        let names = arguments.first == "help" ? arguments.dropFirst() : arguments[...]
        return names.first.flatMap { DevelopmentCommand(rawValue: $0)?.rawValue }
    }

    /// The reason not to start siwa-dev; `nil` if it may be started.
    ///
    /// siwa-dev must have no set-user-ID or set-group-ID bit, and other users must not be able to replace it,
    /// because otherwise a caller of siwa, perhaps through sudo, would run a program with its owner's rights.
    /// This process's group and root's group may have write access.
    var refusal: String? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return "there is no siwa-dev at \(path); build it with scripts/dev, or copy it there"
        }
        guard status.st_mode & (S_ISUID | S_ISGID) == 0 else {
            return "\(path) would run with other rights; remove its set-user-ID and set-group-ID bits"
        }
        guard
            !Self.isWrittenByOthers(
                mode: status.st_mode, owner: status.st_uid, group: status.st_gid, user: geteuid(),
                ownGroup: getegid())
        else {
            return "\(path) can be written by other users; let you or root own it, and no other user write it"
        }
        return nil
    }

    /// Returns true if users other than this user and root can write a file.
    static func isWrittenByOthers(
        mode: mode_t, owner: uid_t, group: gid_t, user: uid_t, ownGroup: gid_t
    ) -> Bool {
        mode & S_IWOTH != 0 || (owner != 0 && owner != user)
            || (mode & S_IWGRP != 0 && group != 0 && group != ownGroup)
    }

    /// Replaces this process with siwa-dev, with the same arguments, environment and name. Returns only if
    /// this fails.
    func start(_ command: String, _ arguments: [String]) -> ExitCode {
        var reason = refusal
        if reason == nil {
            let error = ProcessImage.replace(by: path, arguments)
            reason = "\(path) cannot be started (\(String(cString: strerror(error))))"
        }
        ErrorMessage.write("siwa \(command) is a command of siwa-dev, and \(reason ?? "").")
        return Self.unavailable
    }
}

/// A siwa-dev command, for help and completions. It never runs, because `Siwa.main` starts siwa-dev first.
protocol CommandOfSiwaDev: ParsableCommand {
    static var command: DevelopmentCommand { get }
}

extension CommandOfSiwaDev {
    static var configuration: CommandConfiguration {
        CommandConfiguration(commandName: command.rawValue, abstract: command.abstract)
    }
}

struct Dev: CommandOfSiwaDev { static var command: DevelopmentCommand { .dev } }
struct Tour: CommandOfSiwaDev { static var command: DevelopmentCommand { .tour } }
struct Emulate: CommandOfSiwaDev { static var command: DevelopmentCommand { .emulate } }
struct Login: CommandOfSiwaDev { static var command: DevelopmentCommand { .login } }
