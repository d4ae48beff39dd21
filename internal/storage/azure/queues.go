package azure

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"

	"prompthub/internal/storage/queue"
)

// Queues is the queue service of an account. It implements queue.Queues. A message whose
// text is not base64, though it should be, is delivered as it is.
type Queues struct {
	service *azqueue.ServiceClient
	raw     bool // texts are not encoded
}

var _ queue.Queues = (*Queues)(nil)

// Send implements queue.Queues.
func (q *Queues) Send(ctx context.Context, name, text string, delay time.Duration) (queue.Receipt, error) {
	if err := queue.CheckSend(text, delay); err != nil {
		return queue.Receipt{}, fmt.Errorf("send to %s: %w", name, err)
	}
	if !q.raw {
		text = base64.StdEncoding.EncodeToString([]byte(text))
	}
	forever := int32(-1)
	hidden := seconds(delay)
	opts := &azqueue.EnqueueMessageOptions{TimeToLive: &forever, VisibilityTimeout: &hidden}
	resp, err := q.service.NewQueueClient(name).EnqueueMessage(ctx, text, opts)
	if err != nil {
		return queue.Receipt{}, fmt.Errorf("send to %s: %w", name, queueError(err))
	}
	if len(resp.Messages) != 1 || resp.Messages[0].MessageID == nil || resp.Messages[0].PopReceipt == nil {
		return queue.Receipt{}, fmt.Errorf("send to %s: the answer has no receipt", name)
	}
	return queue.Receipt{ID: *resp.Messages[0].MessageID, Pop: *resp.Messages[0].PopReceipt}, nil
}

// Receive implements queue.Queues. It is sent once, like a write: a repetition would hide
// further messages that no one receives.
func (q *Queues) Receive(ctx context.Context, name string, limit int, lock time.Duration) ([]queue.Message, error) {
	if err := queue.CheckReceive(limit, lock); err != nil {
		return nil, fmt.Errorf("receive from %s: %w", name, err)
	}
	n, hidden := int32(limit), seconds(lock)
	opts := &azqueue.DequeueMessagesOptions{NumberOfMessages: &n, VisibilityTimeout: &hidden}
	resp, err := q.service.NewQueueClient(name).DequeueMessages(ctx, opts)
	if err != nil {
		return nil, fmt.Errorf("receive from %s: %w", name, queueError(err))
	}
	msgs := make([]queue.Message, 0, len(resp.Messages))
	for _, m := range resp.Messages {
		if m == nil || m.MessageID == nil || m.PopReceipt == nil {
			return nil, fmt.Errorf("receive from %s: a message without receipt", name)
		}
		msgs = append(msgs, q.message(m))
	}
	return msgs, nil
}

func (q *Queues) message(m *azqueue.DequeuedMessage) queue.Message {
	msg := queue.Message{Receipt: queue.Receipt{ID: *m.MessageID, Pop: *m.PopReceipt}, Text: q.text(m.MessageText)}
	if m.DequeueCount != nil {
		msg.Dequeued = int(*m.DequeueCount)
	}
	if m.InsertionTime != nil {
		msg.Inserted = *m.InsertionTime
	}
	return msg
}

// text returns the text of a message as it was sent.
func (q *Queues) text(sent *string) string {
	if sent == nil {
		return ""
	}
	if text, err := base64.StdEncoding.DecodeString(*sent); err == nil && !q.raw {
		return string(text)
	}
	return *sent
}

// Hide implements queue.Queues.
func (q *Queues) Hide(ctx context.Context, name string, r queue.Receipt, delay time.Duration) (queue.Receipt, error) {
	if err := queue.CheckDelay(delay); err != nil {
		return queue.Receipt{}, fmt.Errorf("hide message of %s: %w", name, err)
	}
	hidden := seconds(delay)
	opts := &azqueue.UpdateMessageOptions{VisibilityTimeout: &hidden}
	resp, err := q.service.NewQueueClient(name).UpdateMessage(bodiless(ctx), r.ID, r.Pop, "", opts)
	if err != nil {
		return queue.Receipt{}, fmt.Errorf("hide message of %s: %w", name, queueError(err))
	}
	if resp.PopReceipt == nil {
		return queue.Receipt{}, fmt.Errorf("hide message of %s: the answer has no receipt", name)
	}
	return queue.Receipt{ID: r.ID, Pop: *resp.PopReceipt}, nil
}

// Delete implements queue.Queues.
func (q *Queues) Delete(ctx context.Context, name string, r queue.Receipt) error {
	if _, err := q.service.NewQueueClient(name).DeleteMessage(ctx, r.ID, r.Pop, nil); err != nil {
		return fmt.Errorf("delete message of %s: %w", name, queueError(err))
	}
	return nil
}

// Peek implements queue.Queues.
func (q *Queues) Peek(ctx context.Context, name string) ([]string, error) {
	n := int32(queue.MaxReceive)
	resp, err := q.service.NewQueueClient(name).PeekMessages(repeatable(ctx),
		&azqueue.PeekMessagesOptions{NumberOfMessages: &n})
	if err != nil {
		return nil, fmt.Errorf("peek at %s: %w", name, queueError(err))
	}
	texts := make([]string, 0, len(resp.Messages))
	for _, m := range resp.Messages {
		if m != nil {
			texts = append(texts, q.text(m.MessageText))
		}
	}
	return texts, nil
}

// Len implements queue.Queues.
func (q *Queues) Len(ctx context.Context, name string) (int, error) {
	resp, err := q.service.NewQueueClient(name).GetProperties(repeatable(ctx), nil)
	if err != nil {
		return 0, fmt.Errorf("length of %s: %w", name, queueError(err))
	}
	if resp.ApproximateMessagesCount == nil {
		return 0, fmt.Errorf("length of %s: the answer has no count", name)
	}
	return int(*resp.ApproximateMessagesCount), nil
}

// Create implements queue.Queues, under the rules of Tables.Create.
func (q *Queues) Create(ctx context.Context, names ...string) error {
	for _, name := range names {
		_, err := q.service.CreateQueue(repeatable(ctx), name, nil)
		if err != nil && !alreadyExists(err, "QueueAlreadyExists") {
			return fmt.Errorf("create queue %s: %w", name, describe(err))
		}
	}
	return nil
}

// seconds returns d in whole seconds, rounded up so that nothing shows too early.
func seconds(d time.Duration) int32 { return int32((d + time.Second - 1) / time.Second) }

// queueError returns what err says of a request to a queue, in the words of package queue.
func queueError(err error) error {
	err = describe(err)
	var f *failure
	if !errors.As(err, &f) {
		return err
	}
	switch {
	case f.code == "QueueNotFound":
		return fmt.Errorf("%w: %w", queue.ErrNoQueue, f)
	case f.code == "MessageNotFound", f.code == "PopReceiptMismatch":
		return fmt.Errorf("%w: %w", queue.ErrGone, f)
	case f.invalid():
		return fmt.Errorf("%w: %w", queue.ErrInvalid, f)
	}
	return f
}

type bodilessKey struct{}

// bodiless returns a context whose next request is sent without its body. The SDK always
// sends a text with an update, which would replace the message's; the service leaves
// the text alone where there is none.
func bodiless(ctx context.Context) context.Context {
	return context.WithValue(ctx, bodilessKey{}, true)
}

// withoutBody is the policy that does so, ahead of the signature, which covers the body.
type withoutBody struct{}

func (withoutBody) Do(req *policy.Request) (*http.Response, error) {
	if req.Raw().Context().Value(bodilessKey{}) != nil {
		if err := req.SetBody(nil, ""); err != nil {
			return nil, err
		}
	}
	return req.Next()
}
