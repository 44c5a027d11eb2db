import AppleAccounts
import HTTPEngine
import NIOHTTP1
import StrictJSON

extension HTTPResponse {
    /// The response with a page of found accounts.
    static func accounts(_ page: AccountPage) -> HTTPResponse {
        var json = JSONWriter(reservingCapacity: 64 + 768 * page.accounts.count)
        json.beginObject()
        json.name("accounts")
        json.beginArray()
        for account in page.accounts {
            json.element()
            json.value(account)
        }
        json.endArray()
        json.member("cursor", ifPresent: page.next?.text)
        json.member("has_more", page.next != nil)
        json.endObject()
        return .json(.ok, json.bytes)
    }

    /// The response with a page of events.
    static func events(_ page: EventPage) -> HTTPResponse {
        var json = JSONWriter(reservingCapacity: 64 + 384 * page.events.count)
        json.beginObject()
        json.name("events")
        json.beginArray()
        for event in page.events {
            json.element()
            json.value(event)
        }
        json.endArray()
        // The cursor is a string, so that clients do not calculate with it.
        json.member("cursor", String(page.cursor))
        json.member("has_more", page.hasMore)
        json.endObject()
        return .json(.ok, json.bytes)
    }
}
