import AppleAccounts
import Foundation
import HTTPAPI
import HTTPEngine
import NIOCore

/// The error thrown by a server that cannot listen on its address.
package protocol ListenFailure: Error {
    var host: String { get }
    var port: Int { get }
    var cause: any Error { get }
}

extension ListenError: ListenFailure {}

/// Writes commands' error messages to standard error.
package enum ErrorMessage {
    package static func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data((withoutControls(text) + "\n").utf8))
    }

    /// Returns the text without terminal control characters, because a message can contain text from a file
    /// or a server.
    package static func withoutControls(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control where scalar == "\n": result.append(scalar)
            case .control where scalar == "\t": result.append(" ")
            // Format characters can change the direction of the text that follows.
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse:
                result.append("?")
            default: result.append(scalar)
            }
        }
        return String(result)
    }

    /// Returns an error's message, which names the failure and the remedy.
    ///
    /// - Parameter portOption: Returns the option of the command that sets this port.
    package static func text(
        for error: any Error, portOption: (_ port: Int) -> String? = { _ in nil }
    ) -> String {
        switch error {
        case let error as any ListenFailure:
            text(host: error.host, port: error.port, cause: error.cause, option: portOption(error.port))
        case let error as StorageError: text(for: error)
        default: String(describing: error)
        }
    }

    /// Returns the message for a server that cannot listen on its address.
    private static func text(host: String, port: Int, cause: any Error, option: String?) -> String {
        let way = option.map { " with \($0)" } ?? ""
        let address = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        if cause is SocketAddressError || cause is SocketAddressError.UnknownHost {
            return "the host name \(host) is not known; choose an address or a name of this machine"
        }
        return switch (cause as? IOError)?.errnoCode {
        case EADDRINUSE:
            "the address \(address) is in use; stop the program that listens there, or choose another port\(way)"
        case EACCES: "listening on \(address) needs more privileges; choose a port above 1023\(way)"
        case EADDRNOTAVAIL:
            "this machine does not have the address \(host); choose an address of this machine"
        default: "it cannot listen on \(address) (\(cause))"
        }
    }

    private static func text(for error: StorageError) -> String {
        // Some libpq messages have several lines.
        let detail = error.detail.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return switch error.code {
        case .unavailable: "the database cannot be opened (\(detail))"
        case .busy: "the database is busy, or another process has locked it (\(detail))"
        case .full: "the disk is full"
        case .readOnly: "the database is read-only"
        case .corrupted: "the database is damaged (\(detail))"
        case .schemaTooNew: "the database was written by a newer version of siwa"
        case .migrationFailed: "the database cannot be brought up to date (\(detail))"
        case .valueRefused: "the database refused a value"
        }
    }
}
