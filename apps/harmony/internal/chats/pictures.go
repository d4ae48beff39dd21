package chats

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"strings"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/chat"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/fault"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// imagePath is where the doors serve pictures of messages.
const imagePath = "/api/v1/images/chat/"

// imageSide is how long the longer side of a picture of a message is.
const imageSide = 1200

// ImageURL is where the picture of a message of a chat is served, "" if it has none.
func ImageURL(chat string, m chat.Message) string {
	if m.Image.ID == "" {
		return ""
	}
	return imagePath + chat + "/" + m.Image.ID + ".jpg"
}

// SendImage sends a picture to a chat of the caller, made of a file. A request with the same key,
// unless it is "", sends one; created reports whether this one did.
func (s *Service) SendImage(ctx context.Context, c meet.Claim, id string, file []byte,
	key string,
) (m Message, created bool, err error) {
	p, err := s.openToWrite(ctx, c, id)
	if err == nil && !p.room.Open {
		err = chat.ClosedError()
	}
	if err == nil {
		err = s.members.CountPicture(ctx, c.UserID)
	}
	if err != nil {
		return Message{}, false, err
	}
	made, err := s.members.Pictures.Make(ctx, c.UserID, file, imageSide)
	if err != nil {
		return Message{}, false, err
	}
	image := account.Image{ID: s.members.NewID(), UserID: id}
	names := image.Blobs()
	err = rowstore.Both(ctx, func(ctx context.Context) error {
		return s.members.PutFile(ctx, meet.ContainerChats, names[0], made.Large)
	},
		func(ctx context.Context) error {
			return s.members.PutFile(ctx, meet.ContainerChats, names[1], made.Thumb)
		})
	if err != nil {
		return Message{}, false, err
	}
	digest := sha256.Sum256(file)
	m, created, err = s.send(ctx, c, p, chat.Draft{
		Type: chat.TypeImage, Image: chat.Image{ID: image.ID, Width: made.Width, Height: made.Height}, Key: key,
		Digest: hex.EncodeToString(digest[:]),
	})
	if err == nil && !created || err != nil && fault.Of(err) != fault.Unavailable { // else it may land yet
		s.members.DropFiles(ctx, meet.ContainerChats, names)
	}
	return m, created, err
}

// SentPicture returns a file of a picture of a chat to its participants, while the member who sent
// it is neither hidden from them nor gone, and to staff once it was reported.
func (s *Service) SentPicture(ctx context.Context, c meet.Claim, id, file string) (blob.Blob, error) {
	image, small := account.CutImage(file)
	if c.UserID == "" || !meet.IsID(id) || !meet.IsID(image) {
		return blob.Blob{}, meet.NoImage()
	}
	rooms := s.members.Rooms()
	var held *chat.Held
	var p place
	var closed error // why the caller takes no part
	err := rowstore.Both(ctx, func(ctx context.Context) (err error) {
		held, err = rooms.Image(ctx, id, image)
		return err
	}, func(ctx context.Context) (err error) {
		if p, err = s.openChat(ctx, c, id, "", "", 0, false); isGone(err) {
			closed, err = err, nil
		}
		return err
	})
	if err != nil {
		return blob.Blob{}, err
	}
	if held == nil {
		return blob.Blob{}, meet.NoImage()
	}
	seen := closed == nil && held.SenderID == c.UserID
	if closed == nil && !seen {
		viewer := p.caller
		viewer.Role = meet.Member
		authors, err := s.members.Authors(ctx, viewer, []string{held.SenderID})
		if err != nil {
			return blob.Blob{}, err
		}
		_, seen = authors[held.SenderID]
	}
	if !seen && held.Reported {
		caller, err := s.members.Admit(ctx, c)
		if err != nil {
			return blob.Blob{}, err
		}
		seen = caller.Role.Staff()
	}
	if !seen {
		return blob.Blob{}, meet.NoImage()
	}
	return s.members.File(ctx, meet.ContainerChats, account.Image{ID: image, UserID: id}.Blobs()[small])
}

// ReportImage has staff look at the picture of a message that was reported.
func (s *Service) ReportImage(ctx context.Context, id, image string) error {
	return s.members.Rooms().ReportImage(ctx, id, image)
}

// deleteMessage takes the content of a message of a member away. The files of a picture are deleted
// after the answer, or by a message if this process ends before.
func (s *Service) deleteMessage(ctx context.Context, room chat.Room, sender, message string) error {
	rooms, outbox := s.members.Rooms(), s.members.Outbox()
	ctx = outbox.Begin(ctx)
	var wake queue.Receipt
	image, err := rooms.Delete(ctx, room, sender, message, func(image string) (err error) {
		wake, err = outbox.Send(ctx,
			meet.Change{Kind: kindPicture, ID: room.ID + "/" + image, Until: outbox.Landed(ctx)})
		return err
	})
	if err != nil || image == "" {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	s.members.Background(func() {
		if err := rooms.DropImage(ctx, room.ID, image); err != nil {
			s.members.Log.WarnContext(ctx, "files of a picture are deleted later", slog.String("error", err.Error()))
			return
		}
		outbox.Cancel(ctx, wake)
	})
	return nil
}

const kindPicture = "picture"

// Settlers delete the files of pictures whose messages were deleted.
func (s *Service) Settlers() []meet.Settler {
	return []meet.Settler{s.members.Follower(kindPicture, func(ctx context.Context, id string, _ []table.Key) error {
		rooms := s.members.Rooms()
		room, image, _ := strings.Cut(id, "/")
		held, err := rooms.Image(ctx, room, image)
		if err != nil || held != nil {
			return err
		}
		if err := rooms.DropImage(ctx, room, image); err != nil {
			return rowstore.Unavailable(err)
		}
		return nil
	})}
}

// Named reports whether a message has the picture of a file.
func (s *Service) Named(ctx context.Context, file string) (bool, error) {
	room, name, _ := strings.Cut(file, "/")
	image, _ := account.CutImage(name)
	if image == "" {
		return false, nil
	}
	held, err := s.members.Rooms().Image(ctx, room, image)
	return held != nil, err
}

// Files returns the files of the picture that a row of Messages names.
func Files(row table.Row) []string {
	image := row.Props.Get("ImageId").Str()
	if image == "" {
		return nil
	}
	return account.Image{ID: image, UserID: row.Partition}.Blobs()
}
