extension OpenAPIDocument {
    /// Calls about accounts, credentials and events.
    static var accountPaths: String {
        #"""
          /v1/accounts:
            get:
              tags: [accounts]
              operationId: findAccount
              summary: The account of a person, by Apple's name for them.
              parameters:
                - $ref: "#/components/parameters/ClientID"
                - name: sub
                  in: query
                  required: true
                  schema: { type: string, minLength: 1, maxLength: 255 }
              responses:
                "200": { $ref: "#/components/responses/Account" }
                default: { $ref: "#/components/responses/Problem" }
          /v1/accounts/{id}:
            parameters:
              - name: id
                in: path
                required: true
                schema: { type: string, examples: [acc_0193a5e0-7c00-7abc-8def-0123456789ab] }
            get:
              tags: [accounts]
              operationId: account
              summary: An account with its credentials.
              responses:
                "200": { $ref: "#/components/responses/Account" }
                default: { $ref: "#/components/responses/Problem" }
            delete:
              tags: [accounts]
              operationId: eraseAccount
              summary: Erase an account and revoke its tokens at Apple.
              description: |
                All personal data is gone when this is answered. Every token that is held is revoked at Apple, and the
                revocation proven by a refresh that Apple must refuse. Asked again, it answers the same erasure. An API key
                that is limited to apps can erase only an account whose credentials it may see without exception.
              responses:
                "200":
                  description: Everything is done.
                  content:
                    application/json:
                      schema: { $ref: "#/components/schemas/ErasureAnswer" }
                "202":
                  description: Apple still has to be asked. The report is kept up to date at `Location`.
                  headers:
                    Location: { schema: { type: string }, required: true, description: "`/v1/erasures/{id}`" }
                  content:
                    application/json:
                      schema: { $ref: "#/components/schemas/ErasureAnswer" }
                default: { $ref: "#/components/responses/Problem" }
          /v1/erasures/{id}:
            get:
              tags: [accounts]
              operationId: erasure
              summary: How far an erasure is.
              parameters:
                - name: id
                  in: path
                  required: true
                  schema: { type: string, examples: [era_0193a5e0-7c00-7abc-8def-0123456789ab] }
              responses:
                "200":
                  description: The report.
                  content:
                    application/json:
                      schema: { $ref: "#/components/schemas/ErasureAnswer" }
                default: { $ref: "#/components/responses/Problem" }
          /v1/credentials/{sub}:
            get:
              tags: [credentials]
              operationId: credential
              summary: What a person's credential for an app is worth. `notFound` is an answer.
              parameters:
                - name: sub
                  in: path
                  required: true
                  schema: { type: string }
                - $ref: "#/components/parameters/ClientID"
                - name: If-None-Match
                  in: header
                  schema: { type: string }
              responses:
                "200":
                  description: The credential.
                  headers:
                    ETag: { schema: { type: string }, required: true }
                  content:
                    application/json:
                      schema: { $ref: "#/components/schemas/Credential" }
                "304":
                  description: As it was.
                default: { $ref: "#/components/responses/Problem" }
          /v1/credentials/query:
            post:
              tags: [credentials]
              operationId: queryCredentials
              summary: The same for many persons, in the order asked.
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      type: object
                      additionalProperties: false
                      required: [client_id, subs]
                      properties:
                        client_id: { type: string, minLength: 1 }
                        subs:
                          type: array
                          minItems: 1
                          maxItems: 1000
                          items: { type: string, minLength: 1 }
              responses:
                "200":
                  description: One credential for each `sub`.
                  content:
                    application/json:
                      schema:
                        type: object
                        required: [credentials]
                        properties:
                          credentials:
                            type: array
                            items:
                              allOf:
                                - $ref: "#/components/schemas/Credential"
                                - type: object
                                  required: [sub]
                                  properties:
                                    sub: { type: string }
                default: { $ref: "#/components/responses/Problem" }
          /v1/events:
            get:
              tags: [events]
              operationId: events
              summary: Account events in the order of commit. None is skipped.
              parameters:
                - name: after
                  in: query
                  description: |
                    The `cursor` of the page before; without it, from the beginning. `latest` is the end of the feed: an
                    empty page with the cursor for the next call, or with `wait` what comes next.
                  schema: { type: string, pattern: "^([0-9]+|latest)$" }
                - name: limit
                  in: query
                  schema: { type: integer, minimum: 1, maximum: 1000, default: 100 }
                - name: wait
                  in: query
                  description: Seconds to wait for an event when there is none.
                  schema: { type: integer, minimum: 0, maximum: 30, default: 0 }
              responses:
                "200":
                  description: A page. It can be empty and have more behind it.
                  content:
                    application/json:
                      schema:
                        type: object
                        required: [events, cursor, has_more]
                        properties:
                          events:
                            type: array
                            items: { $ref: "#/components/schemas/Event" }
                          cursor: { type: string }
                          has_more: { type: boolean }
                "409":
                  description: |
                    `cursor_ahead`: the cursor is past the end of the feed, because the database was set back to a backup.
                  content:
                    application/problem+json:
                      schema: { $ref: "#/components/schemas/Problem" }
                default: { $ref: "#/components/responses/Problem" }

        """#
    }
}
