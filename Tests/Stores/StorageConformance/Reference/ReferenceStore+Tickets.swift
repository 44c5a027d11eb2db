public import AppleAccounts
import Synchronization

extension ReferenceStore: TicketStore {
    public func insertTicket(_ ticket: Ticket) async throws -> Bool {
        guard ticket.payload.count <= Ticket.longestPayload else {
            throw StorageError(.valueRefused, detail: "a long payload")
        }
        return state.withLock { state in
            let isNew = !state.tickets.contains {
                $0.digest == ticket.digest && $0.purpose == ticket.purpose
            }
            if isNew { state.tickets.append(ticket) }
            return isNew
        }
    }

    public func takeTicket(
        digest: TicketDigest, purpose: TicketPurpose, at moment: Moment
    ) async throws -> [UInt8]? {
        state.withLock { state in
            let index = state.tickets.firstIndex {
                $0.digest == digest && $0.purpose == purpose && moment < $0.expiresAt
            }
            return index.map { state.tickets.remove(at: $0).payload }
        }
    }

    public func hasTicket(
        digest: TicketDigest, purpose: TicketPurpose, at moment: Moment
    ) async throws -> Bool {
        state.withLock { state in
            state.tickets.contains {
                $0.digest == digest && $0.purpose == purpose && moment < $0.expiresAt
            }
        }
    }

    public func purgeTickets(expiredBefore moment: Moment) async throws -> Int {
        state.withLock { state in
            let before = state.tickets.count
            state.tickets.removeAll { $0.expiresAt < moment }
            return before - state.tickets.count
        }
    }
}
